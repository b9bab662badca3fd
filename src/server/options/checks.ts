/** Whether options agree with each other. */
import { LIMITS } from '../../protocol/limits.ts';
import { ItemTypeError, readItemTypes } from '../../reference/item-types.ts';
import { allCodes, createPool } from '../../room/pool.ts';
import { readWebhooks, WebhookOptionError } from '../../webhooks/settings.ts';
import { AdminTokenError, readAdminTokens } from '../admin-tokens.ts';
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
  checkAdminTokens(options);
  checkWebhooks(options);
  try {
    createPool(codeDigits, poolSize ?? allCodes(codeDigits));
  } catch (error) {
    throw new OptionError('poolSize', error instanceof Error ? error.message : 'malformed');
  }
}

function checkTurn({ turnUrls, turnSecrets, turnTtlMs, tickMs }: Options): void {
  if (turnUrls.length === 0 && turnSecrets.length === 0) return;
  if (turnUrls.length === 0) throw new OptionError('turnUrls', 'needed beside turnSecrets');
  if (turnSecrets.length === 0) throw new OptionError('turnSecrets', 'needed beside turnUrls');
  // The tick renews them, and no member may be left with credentials that have ended.
  if (turnTtlMs < 4 * tickMs) throw new OptionError('turnTtlMs', `must be at least four times tickMs (${tickMs})`);
}

function checkReferences({ itemTypes, userIds, redisUrl, databaseUrl, dataDir }: Options): void {
  try {
    readItemTypes(itemTypes);
  } catch (error) {
    if (error instanceof ItemTypeError) throw new OptionError('itemTypes', error.message);
    throw error;
  }
  if (userIds === 'random' || databaseUrl !== undefined) return;
  if (redisUrl !== undefined) throw new OptionError('userIds', 'counted ones need a databaseUrl that all nodes share');
  if (dataDir === undefined) throw new OptionError('userIds', 'counted ones need a databaseUrl or a dataDir');
}

function checkWebhooks(options: Options): void {
  try {
    readWebhooks(options);
  } catch (error) {
    if (error instanceof WebhookOptionError) throw new OptionError(error.option, error.message);
    throw error;
  }
}

function checkAdminTokens({ adminToken, adminTokens }: Options): void {
  try {
    readAdminTokens(adminToken, adminTokens);
  } catch (error) {
    if (error instanceof AdminTokenError) throw new OptionError('adminTokens', error.message);
    throw error;
  }
}
