/** What becomes of what drivers throw. */
import { DatabaseMisconfigured, DatabaseUnavailable } from './database.ts';

/** Passes on what is thrown of a statement that was refused; all else is said to be an outage, with its cause. */
export type ErrorTranslator = <T>(answer: Promise<T>) => Promise<T>;

/** @param isRefusal tells what a driver throws when the database has looked at a statement, and will never take it. */
export const createErrorTranslator =
  (isRefusal: (error: unknown) => boolean): ErrorTranslator =>
  async (answer) => {
    try {
      return await answer;
    } catch (error) {
      if (isOneOfOurs(error) || isRefusal(error)) throw error;
      throw new DatabaseUnavailable(messageOf(error), { cause: error });
    }
  };

export const closedError = () => new DatabaseUnavailable('the database has been closed');

const isOneOfOurs = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof DatabaseMisconfigured;

/** Who has tried several addresses says nothing but what each attempt has said. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
