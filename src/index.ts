/** Signalbox as a library: what the package exports. */

// The server.

export { createServer, NodeIdTaken } from './create-server.ts';
export type { ServerDependencies } from './server/dependencies.ts';
export type { EmbedTarget } from './server/hosting/embed.ts';
export type { FastifyHost } from './server/hosting/fastify-host.ts';
export { OptionError, type Options, type PartialOptions } from './server/options/options.ts';
export type { EmbeddedSignalbox, Signalbox, SignalboxServer } from './server/signalbox.ts';
export { type Log, silentLog } from './support/log.ts';

// What happens on it, and what the program around it decides.

export type { FeedEvent, FeedType } from './protocol/feed.ts';
export type { CreateRequest, Credentials, Hooks, Identity, JoinRequest, Refusal } from './server/auth/hooks.ts';
export type { EventListener, Events } from './server/monitoring/events.ts';
export type { PoolFigures } from './server/monitoring/pool-monitor.ts';
export type { StoreHealth } from './support/store.ts';

// References.

export { type ParsedReference, ReferenceMalformed } from './reference/format.ts';
export { createReferenceGenerator, type ReferenceGeneratorOptions } from './reference/from-options.ts';
export type { CountedReferences, CountingOptions } from './reference/generator.ts';
export { type ItemType, ItemTypeError, type ItemTypes } from './reference/item-types.ts';
export { type Ledger, LedgerMisconfigured } from './reference/ledger.ts';
export { type IssueContext, type ReferenceNotice, ReferenceUnavailable } from './reference/port.ts';
