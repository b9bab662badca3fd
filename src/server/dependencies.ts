/**
 * What a server is given beside its options, before it is taken for granted. Hooks decide who gets in: one that is
 * misspelt, and never asked, would let in everybody.
 */

import type { Hooks } from './auth/hooks.ts';
import type { EmbedTarget } from './hosting/embed.ts';
import { OptionError, type Options } from './options/options.ts';
import type { ServerDependencies } from './signalbox.ts';

const DEPENDENCIES: Readonly<Record<keyof (ServerDependencies & EmbedTarget), true>> = {
  lockDataDir: true,
  engine: true,
  webhookQueue: true,
  references: true,
  calls: true,
  clock: true,
  random: true,
  log: true,
  hooks: true,
  server: true,
  prefix: true,
};

const HOOKS: Readonly<Record<keyof Hooks, true>> = { authenticate: true, onCreate: true, onJoin: true, onEvent: true };

/** @throws OptionError for one that there is not, and for a `prefix` that is nowhere. */
export function checkDependencies(given: Partial<ServerDependencies & EmbedTarget>): void {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(DEPENDENCIES, name))
      throw new OptionError(name, `no such dependency; there are ${namesOf(DEPENDENCIES)}`);
  if (given.prefix !== undefined && given.server === undefined)
    throw new OptionError('prefix', 'needs the server that it is a prefix in');
}

/** @throws OptionError for a hook that there is not, or that is no function; and for one that would hear nothing. */
export function checkHooks(hooks: Hooks, { feedMaxEvents }: Options): void {
  // In JavaScript they may be anything.
  const given: unknown = hooks;
  if (typeof given !== 'object' || given === null) throw new OptionError('hooks', 'must be an object of functions');
  for (const name of Object.keys(given))
    if (!Object.hasOwn(HOOKS, name))
      throw new OptionError(`hooks.${name}`, `no such hook; there are ${namesOf(HOOKS)}`);
  for (const name of Object.keys(HOOKS)) {
    const hook: unknown = Reflect.get(given, name);
    if (hook !== undefined && typeof hook !== 'function') throw new OptionError(`hooks.${name}`, 'must be a function');
  }
  if (hooks.onEvent !== undefined && feedMaxEvents === 0)
    throw new OptionError('feedMaxEvents', 'must be more than 0 beside the hook onEvent, which hears of events');
}

const namesOf = (known: object): string => Object.keys(known).join(', ');
