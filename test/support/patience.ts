/**
 * What a test waits for may come late on a busy machine: `vi.waitFor` waits half a minute instead of a second, as
 * `expect.poll` does by the configuration. Loaded before every test file.
 */
import { vi } from 'vitest';
import { PATIENCE_MS } from './patience-ms.ts';

const { waitFor } = vi;

vi.waitFor = (check, options = {}) =>
  waitFor(check, { timeout: PATIENCE_MS, ...(typeof options === 'number' ? { timeout: options } : options) });
