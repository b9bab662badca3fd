/** Secrets in files, as Docker, Kubernetes and systemd hand them over: a command line and an environment are seen by more programs. */
import { closeSync, openSync, readSync } from 'node:fs';
import { OptionError } from '../server/options/options.ts';

/** More than any secret needs: a wrong path may name a large file. */
const MAX_BYTES = 64 * 1024;

/**
 * @param variable that has the path, for the error. The error repeats neither the contents nor the path, which is the secret
 *   itself when somebody mistakes the variable for the other one.
 * @returns the text without white space at its ends.
 * @throws OptionError when the file cannot be read, is empty, or is no text.
 */
export function readSecretFile(path: string, variable: string): string {
  const bytes = readBytes(path, variable);
  if (bytes.byteLength > MAX_BYTES) throw new OptionError(variable, `the file has more than ${MAX_BYTES} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    if (text !== '') return text;
  } catch {
    throw new OptionError(variable, 'the file is not UTF-8 text');
  }
  throw new OptionError(variable, 'the file is empty');
}

/** One byte more than are accepted, however long the file is. */
function readBytes(path: string, variable: string): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let size = 0;
    // A pipe gives its contents in parts.
    for (let read = 1; read > 0 && size < bytes.length; size += read) {
      read = readSync(file, bytes, size, bytes.length - size, null);
    }
    return bytes.subarray(0, size);
  } catch (cause) {
    // Cast: system errors of Node have a `code`.
    const { code } = cause as NodeJS.ErrnoException;
    throw new OptionError(variable, `the file that it names cannot be read (${code ?? 'unknown reason'})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
