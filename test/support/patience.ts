/**
 * Raises the default timeout of `vi.waitFor` from a second to half a minute, for busy machines; the configuration does the
 * same for `expect.poll`. Loaded before every test file.
 */
import { vi } from 'vitest';
import { PATIENCE_MS } from './patience-ms.ts';

const { waitFor } = vi;

vi.waitFor = (check, options = {}) =>
  waitFor(check, { timeout: PATIENCE_MS, ...(typeof options === 'number' ? { timeout: options } : options) });
