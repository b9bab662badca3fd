/** Whether options agree with each other. */
import { LIMITS } from '../../protocol/limits.ts';
import { ItemTypeError, readItemTypes } from '../../reference/item-types.ts';
import { allCodes, createPool } from '../../room/pool.ts';
import { readWebhooks, WebhookOptionError } from '../../webhooks/settings.ts';
import { AdminTokenError, readAdminTokens } from '../auth/admin-tokens.ts';
import { OptionError } from './option-error.ts';
import type { Options } from './table.ts';

/** @throws OptionError naming the first option that is at odds with another. */
export function checkTogether(options: Options): void {
  const { userTtlMs, heartbeatIntervalMs, tickMs, codeDigits, poolSize, frameBytes } = options;
  if (heartbeatIntervalMs >= userTtlMs)
    throw new OptionError('heartbeatIntervalMs', `must be less than userTtlMs (${userTtlMs})`);
  if (tickMs > userTtlMs / 2) throw new OptionError('tickMs', `must be at most half of userTtlMs (${userTtlMs})`);
  if (frameBytes < LIMITS.signalBytes + 1024)
    throw new OptionError('frameBytes', 'must leave room for a signal of 64 KiB');
  checkTurn(options);
  checkReferences(options);
  const { adminToken, adminTokens } = options;
  blame(AdminTokenError, 'adminTokens', () => readAdminTokens(adminToken, adminTokens));
  blame(
    WebhookOptionError,
    ({ option }) => option,
    () => readWebhooks(options),
  );
  blame(RangeError, 'poolSize', () => createPool(codeDigits, poolSize ?? allCodes(codeDigits)));
}

function checkTurn({ turnUrls, turnSecrets, turnTtlMs, tickMs }: Options): void {
  if (turnUrls.length === 0 && turnSecrets.length === 0) return;
  if (turnUrls.length === 0) throw new OptionError('turnUrls', 'needed beside turnSecrets');
  if (turnSecrets.length === 0) throw new OptionError('turnSecrets', 'needed beside turnUrls');
  // The tick renews them, and no member may be left with credentials that have ended.
  if (turnTtlMs < 4 * tickMs) throw new OptionError('turnTtlMs', `must be at least four times tickMs (${tickMs})`);
}

function checkReferences({ itemTypes, userIds, redisUrl, databaseUrl, dataDir }: Options): void {
  blame(ItemTypeError, 'itemTypes', () => readItemTypes(itemTypes));
  if (userIds === 'random' || databaseUrl !== undefined) return;
  if (redisUrl !== undefined) throw new OptionError('userIds', 'counted ones need a databaseUrl that all nodes share');
  if (dataDir === undefined) throw new OptionError('userIds', 'counted ones need a databaseUrl or a dataDir');
}

type Kind<Complaint> = abstract new (...given: never[]) => Complaint;

/** Whoever reads an option knows what is wrong with it, and not that it is one: what it throws is told of the option. */
function blame<Complaint extends Error>(
  kind: Kind<Complaint>,
  option: string | ((complaint: Complaint) => string),
  read: () => unknown,
): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    throw new OptionError(typeof option === 'string' ? option : option(error), error.message);
  }
}
