/** Servers that refuse to run as root run as nobody, in a folder of theirs. */
import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { promisify } from 'node:util';

const NOBODY = 65_534;
const run = promisify(execFile);

const isRoot = (): boolean => process.getuid?.() === 0;

/** @returns the command that runs another one without rights; its last words bind it to this process again. */
export function unprivileged(command: string, args: readonly string[]): { command: string; args: string[] } {
  if (!isRoot()) return { command, args: [...args] };
  // Another user's process is no longer killed with its parent, unless that is asked for after the change.
  const change = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', '--pdeathsig', 'KILL', '--'];
  return { command: 'setpriv', args: [...change, command, ...args] };
}

export async function runUnprivileged(program: string, programArgs: readonly string[]): Promise<void> {
  const { command, args } = unprivileged(program, programArgs);
  await run(command, args, { timeout: 60_000 });
}

export async function giveAway(folder: string): Promise<void> {
  if (isRoot()) await chown(folder, NOBODY, NOBODY);
}
