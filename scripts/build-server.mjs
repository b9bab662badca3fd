#!/usr/bin/env node
// Compiles src/ into dist/. Everything is built aside and moved into place file by file: a server that somebody runs
// from dist/ meanwhile never meets a half-written module, and a failed build leaves the last good one untouched.
// --unchecked skips the type check, for test runs: types are the business of `npm run typecheck`.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist');
// A sibling of the target: a rename works only within one file system, and source maps hold paths relative to their depth.
const aside = join(root, `dist.${process.pid}`);
const executable = join('cli', 'main.js');
// The demo page and the SDK for browsers have builds of their own, and so have the pages about the SDK.
const foreign = ['client-demo', 'browser', 'api'];

function main() {
  const unknown = process.argv.slice(2).filter((argument) => argument !== '--unchecked');
  if (unknown.length > 0) throw new Error(`unknown argument ${unknown.join(' ')}`);
  compile(process.argv.includes('--unchecked'));
  copyScripts();
  if (existsSync(join(aside, executable))) chmodSync(join(aside, executable), 0o755);
  const built = filesUnder(aside);
  for (const file of built) moveIntoPlace(file);
  removeStale(new Set(built));
}

function compile(unchecked) {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const options = ['-p', join(root, 'tsconfig.build.json'), '--outDir', aside, '--noEmitOnError'];
  const result = spawnSync(process.execPath, [compiler, ...options, ...(unchecked ? ['--noCheck'] : [])], {
    cwd: root,
    encoding: 'utf8',
  });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`the compiler refused:\n${result.stdout}${result.stderr}`);
}

// The compiler leaves alone what it does not understand, but the Redis engine reads its Lua from beside itself.
function copyScripts() {
  const source = join(root, 'src');
  for (const file of filesUnder(source).filter((name) => name.endsWith('.lua'))) {
    cpSync(join(source, file), join(aside, file));
  }
}

function moveIntoPlace(file) {
  const target = join(output, file);
  mkdirSync(dirname(target), { recursive: true });
  renameSync(join(aside, file), target);
}

function removeStale(built) {
  if (!existsSync(output)) return;
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    if (foreign.includes(entry.name)) continue;
    const inside = entry.isDirectory() ? filesUnder(join(output, entry.name)) : [''];
    for (const file of inside.map((name) => join(entry.name, name))) {
      if (!built.has(file)) rmSync(join(output, file), { force: true });
    }
    if (entry.isDirectory()) removeEmpty(join(output, entry.name));
  }
}

function removeEmpty(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmpty(join(directory, entry.name));
  }
  if (readdirSync(directory).length === 0) rmdirSync(directory);
}

function filesUnder(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(directory, entry.name)).map((name) => join(entry.name, name)) : [entry.name],
  );
}

try {
  main();
} catch (error) {
  console.error(`build:server failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(aside, { recursive: true, force: true });
}
