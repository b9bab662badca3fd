/** MySQL and MariaDB with an unsafe SQL mode. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { startMariadb } from '../support/mariadb.ts';

test('values are safe on a server with NO_BACKSLASH_ESCAPES and without strict mode', async () => {
  await using server = await startMariadb();
  const url = await server.createDatabase('odd');
  const admin = openDatabase(url);
  await admin.run("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'");
  await admin.close();
  const database = openDatabase(url);
  const add =
    'INSERT INTO signalbox_participants (ref, seq, user_id, name, joined_at, called_at) VALUES (?, 1, ?, ?, 1, 1)';
  const name = String.raw`\', 1, 1); DROP TABLE signalbox_participants; -- "\\`;
  await database.run(add, ['ROM1', 'anna', name]);
  expect(await database.rows('SELECT name FROM signalbox_participants')).toEqual([{ name }]);
  await expect(database.run(add, ['ROM2', 'a'.repeat(65), null])).rejects.toThrow();
  await database.close();
});
