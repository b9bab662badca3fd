/** A process that records a page and kills itself before the transaction ends. Its arguments: Redis, database. */
import { openDatabase } from '../../dist/database/open.js';
import { createRedisEngine } from '../../dist/engine/redis/index.js';
import { createRecorder } from '../../dist/records/recorder.js';
import { silentLog } from '../../dist/support/log.js';

const { redis, database: url, settings } = JSON.parse(process.argv[2]);
const engine = await createRedisEngine({ url: redis })(settings);
const database = openDatabase(url);
const deadly = {
  ...database,
  transaction: (work) =>
    database.transaction(async (queries) => {
      await work(queries);
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    }),
};
await createRecorder({
  database: deadly,
  feed: engine.feed,
  feedName: 'memory',
  maxAgeMs: 1_000_000,
  clock: Date,
  log: silentLog,
}).record();
