/** The backup of a database server as it lies on the disk, taken and put back while nothing runs. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runUnprivileged } from './unprivileged.ts';

interface Stoppable {
  /** Where its data lies. */
  readonly data: string;
  /** Where the backup may lie. */
  readonly folder: string;
  readonly stop: () => Promise<unknown>;
  readonly launch: () => Promise<unknown>;
}

/** @returns a function that puts the data back as they were; the server runs afterwards, as it does now. */
export async function backUp({ data, folder, stop, launch }: Stoppable): Promise<() => Promise<void>> {
  const backup = join(folder, 'backup');
  await stop();
  await rm(backup, { recursive: true, force: true });
  await runUnprivileged('cp', ['-a', data, backup]);
  await launch();
  return async () => {
    await stop();
    await rm(data, { recursive: true });
    await runUnprivileged('cp', ['-a', backup, data]);
    await launch();
  };
}
