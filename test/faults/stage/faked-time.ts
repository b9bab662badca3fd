/** The clock of a process, set by libfaketime while the process runs. The monotonic clock stays what it is. */
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TemporaryFolder, temporaryFolder } from '../../support/process.ts';

export interface FakedTime extends AsyncDisposable {
  /** For the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock by so many seconds from the true time. */
  shift(seconds: number): Promise<void>;
}

export async function fakedTime(): Promise<FakedTime> {
  const folder: TemporaryFolder = await temporaryFolder();
  const file = join(folder.path, 'time');
  const shift = (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}`);
  await shift(0);
  return {
    env: {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: file,
      // Seconds after which a process reads the file again.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Times of files stay true.
      NO_FAKE_STAT: '1',
    },
    shift,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Debian keeps it in a folder of the architecture. */
function library(): string {
  const name = 'faketime/libfaketime.so.1';
  const found = readdirSync('/usr/lib').find((folder) => existsSync(join('/usr/lib', folder, name)));
  if (found === undefined) throw new Error('libfaketime not found: run apt-get install faketime as root');
  return join('/usr/lib', found, name);
}
