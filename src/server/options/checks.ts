/** Checks of options against each other. */
import { LIMITS } from '../../protocol/limits.ts';
import { ItemTypeError, readItemTypes } from '../../reference/item-types.ts';
import { allCodes, createPool } from '../../room/pool.ts';
import { readWebhooks, WebhookOptionError } from '../../webhooks/settings.ts';
import { AdminTokenError, readAdminTokens } from '../auth/admin-tokens.ts';
import { OptionError } from './option-error.ts';
import type { Options } from './table.ts';

/** @throws OptionError that names the first option in conflict with another. */
export function checkTogether(options: Options): void {
  const { userTtlMs, heartbeatIntervalMs, tickMs, codeDigits, poolSize, frameBytes } = options;
  if (heartbeatIntervalMs >= userTtlMs)
    throw new OptionError('heartbeatIntervalMs', `must be less than userTtlMs (${userTtlMs})`);
  if (tickMs > userTtlMs / 2) throw new OptionError('tickMs', `must be at most half of userTtlMs (${userTtlMs})`);
  if (options.drainReadyMs > options.drainMs)
    throw new OptionError('drainReadyMs', `must be at most drainMs (${options.drainMs}), of which it is a part`);
  if (frameBytes < LIMITS.signalBytes + 1024)
    throw new OptionError('frameBytes', 'must have room for a signal of 64 KiB and its envelope');
  checkTurn(options);
  checkReferences(options);
  const { adminToken, adminTokens } = options;
  rethrowAsOptionError(
    AdminTokenError,
    ({ option }) => option,
    () => readAdminTokens(adminToken, adminTokens),
  );
  rethrowAsOptionError(
    WebhookOptionError,
    ({ option }) => option,
    () => readWebhooks(options),
  );
  rethrowAsOptionError(RangeError, 'poolSize', () => createPool(codeDigits, poolSize ?? allCodes(codeDigits)));
}

function checkTurn({ turnUrls, turnSecrets, turnTtlMs, tickMs }: Options): void {
  if (turnUrls.length === 0 && turnSecrets.length === 0) return;
  if (turnUrls.length === 0) throw new OptionError('turnUrls', 'required together with turnSecrets');
  if (turnSecrets.length === 0) throw new OptionError('turnSecrets', 'required together with turnUrls');
  // The tick renews the credentials: with a shorter life they could expire before a member receives new ones.
  if (turnTtlMs < 4 * tickMs) throw new OptionError('turnTtlMs', `must be at least four times tickMs (${tickMs})`);
}

function checkReferences({ itemTypes, userIds, redisUrl, databaseUrl, dataDir }: Options): void {
  rethrowAsOptionError(ItemTypeError, 'itemTypes', () => readItemTypes(itemTypes));
  if (userIds === 'random' || databaseUrl !== undefined) return;
  if (redisUrl !== undefined) throw new OptionError('userIds', 'reference needs a databaseUrl, which all nodes share');
  if (dataDir === undefined) throw new OptionError('userIds', 'reference needs a databaseUrl or a dataDir');
}

type ErrorClass<Failure> = abstract new (...parameters: never[]) => Failure;

/** Rethrows errors of one class with the name of the option: the parsers of option values do not know it. */
function rethrowAsOptionError<Failure extends Error>(
  errorClass: ErrorClass<Failure>,
  option: string | ((error: Failure) => string),
  read: () => unknown,
): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof errorClass)) throw error;
    throw new OptionError(typeof option === 'string' ? option : option(error), error.message);
  }
}
