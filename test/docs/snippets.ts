/** The examples of a page of the documentation: fenced code with a name behind its language. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const WRITTEN_FOR = 'http://localhost:3000';

/** @returns the examples by name, as they would be written for the server at `url`. */
export async function snippetsOf(page: string, url: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(fileURLToPath(new URL(`../../${page}`, import.meta.url)), 'utf8');
  const fences = [...text.matchAll(/^```(?:html|jsx?|tsx?|sh|py) ?([a-z-]*)\n(.*?)^```$/gms)];
  return new Map(fences.map(([, name = '', code = '']) => [name, code.replaceAll(WRITTEN_FOR, url)]));
}
