/**
 * Time limits of the database servers, shortest first. Each limit of the server is below the one of its client: when a
 * client gives up, the server has ended the work before, so it holds no lock, and no connection beyond those of the pool.
 */

/** In the server: the wait for one lock. Whole seconds, because MySQL knows no fractions. */
export const LOCK_MS = 1_000;
/** In the server: one statement, the wait for its locks included. */
export const STATEMENT_MS = 1_200;
/** In the client: one statement, or one connection attempt. Reached only when the server does not answer at all. */
export const ANSWER_MS = 1_500;
/** In the client: one call, of several statements or with a wait for a connection. */
export const CALL_MS = 2_500;
/**
 * In the server: a transaction whose client sends nothing. A client that has lost its power or its network would keep its
 * locks until the server's TCP gives up, two hours by default.
 */
export const IDLE_MS = 4_000;

/** One statement of a migration, which may rewrite a large table. Its waits for locks are as short as all others. */
export const MIGRATION_STATEMENT_MS = 30 * 60_000;
/** The client's limit above one of the server's. */
export const answerMsOf = (statementMs: number): number => statementMs + (ANSWER_MS - STATEMENT_MS);
