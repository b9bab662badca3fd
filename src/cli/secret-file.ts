/** Secrets in files, as Docker, Kubernetes and systemd hand them over: a command line and an environment are seen by more programs. */
import { readFileSync } from 'node:fs';
import { OptionError } from '../server/options/options.ts';

/** More than any secret needs: a wrong path may name a large file. */
const MAX_BYTES = 64 * 1024;

/**
 * @param variable that has the path, for the error. The error never repeats the contents.
 * @returns the text without white space at its ends.
 * @throws OptionError when the file cannot be read, is empty, or is no text.
 */
export function readSecretFile(path: string, variable: string): string {
  const bytes = readBytes(path, variable);
  if (bytes.byteLength > MAX_BYTES) throw new OptionError(variable, `${path} has more than ${MAX_BYTES} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    if (text !== '') return text;
  } catch {
    throw new OptionError(variable, `${path} is not UTF-8 text`);
  }
  throw new OptionError(variable, `${path} is empty`);
}

function readBytes(path: string, variable: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    // Cast: system errors of Node have a `code`.
    const { code } = cause as NodeJS.ErrnoException;
    throw new OptionError(variable, `${path} cannot be read (${code ?? String(cause)})`);
  }
}
