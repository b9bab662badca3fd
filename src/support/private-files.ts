/**
 * Files and directories that only their owner may read, whatever the umask: the records of calls have names, and codes of rooms
 * that are open. SQLite gives its write-ahead log and its index the permissions of the database file.
 */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import type { Log } from './log.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** All bits of the group and of others. */
const OTHERS = 0o077;

/** Makes a directory that is not there, and its parents; one that is there stays as it is. */
export function makePrivateDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
  // Windows has no such modes, and a umask can take away bits of ours.
  if (first !== undefined) chmodSync(path, DIRECTORY_MODE);
}

/**
 * Takes a directory away from others when there is nothing in it but what is ours: it may have been named by mistake, such as
 * /tmp. Otherwise warns: files in it can be replaced by others, or at least seen.
 *
 * @param isOurs whether an entry of the directory is one of ours.
 */
export function keepDirectoryPrivate(path: string, isOurs: (name: string) => boolean, log: Log): void {
  makePrivateDirectory(path);
  if (((modeOf(path) ?? 0) & OTHERS) === 0) return;
  const problem = readdirSync(path).every((name) => isOurs(name) || name === 'lost+found')
    ? tighten(path, DIRECTORY_MODE)
    : 'there are other files in it';
  if (problem !== undefined) {
    log.warn(
      `the directory ${path} is open to other users, and stays so (${problem}): run chmod 700, or use another directory`,
    );
  }
}

/** Makes an empty file when there is none. One that is there keeps its mode, which its owner may have chosen. */
export function makePrivateFile(path: string, log: Log): void {
  const mode = modeOf(path);
  // Opened to append: an existing file is not truncated.
  closeSync(openSync(path, 'a', FILE_MODE));
  // A umask can take away bits of the owner too.
  if (mode === undefined) tighten(path, FILE_MODE);
  else if ((mode & OTHERS) !== 0)
    log.warn(`the file ${path} is open to other users, and stays so: chmod 600 ends that`);
}

/** Takes existing files of ours away from others. */
export function keepFilesPrivate(paths: readonly string[], log: Log): void {
  for (const path of paths) {
    const mode = modeOf(path);
    if (mode === undefined || mode === FILE_MODE) continue;
    const problem = tighten(path, FILE_MODE);
    if (problem !== undefined && (mode & OTHERS) !== 0)
      log.warn(`the file ${path} is open to other users, and stays so (${problem}): run chmod 600`);
  }
}

/** Permission bits; undefined for a file that is not there, and on Windows, which has none. */
function modeOf(path: string): number | undefined {
  const found = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.mode & 0o777;
}

/** @returns why it was not possible, such as that the file has another owner. */
function tighten(path: string, mode: number): string | undefined {
  try {
    chmodSync(path, mode);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
