/** `npm start`: builds, then serves, in this very process. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

console.log('Building the server and the demo page...');
const cwd = fileURLToPath(new URL('..', import.meta.url));
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const { status } = spawnSync(npm, ['run', '--silent', 'build'], {
  cwd,
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (status !== 0) process.exit(status ?? 1);

// npm hands a SIGTERM to the shell that it started, and the shell ends without handing it on: the server would live on.
// Once: a second signal would end the server without its drain.
const parent = process.ppid;
const watch = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watch);
  process.kill(process.pid, 'SIGTERM');
}, 500).unref();

const main = new URL('../dist/cli/main.js', import.meta.url);
process.argv = [process.argv[0] ?? 'node', fileURLToPath(main), 'serve', ...process.argv.slice(2)];
await import(main.href);
