/** Translates errors of the drivers into those of the port. */
import { DatabaseMisconfigured, DatabaseUnavailable } from './database.ts';

/** Rethrows refusals of a statement; every other error becomes `DatabaseUnavailable`, with its cause. */
export type ErrorTranslator = <T>(result: Promise<T>) => Promise<T>;

/** @param isRefusal whether a driver's error means that the database will never accept the statement. */
export const createErrorTranslator =
  (isRefusal: (error: unknown) => boolean): ErrorTranslator =>
  async (result) => {
    try {
      return await result;
    } catch (error) {
      if (isTranslated(error) || isRefusal(error)) throw error;
      throw new DatabaseUnavailable(messageOf(error), { cause: error });
    }
  };

export const closedError = () => new DatabaseUnavailable('the database has been closed');

const isTranslated = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof DatabaseMisconfigured;

/** An attempt on several addresses has no message of its own, only those of its parts. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
