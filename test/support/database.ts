/** A database server of a test's own. */
export interface DatabaseServer extends AsyncDisposable {
  readonly pid: number;
  /** SIGSTOP: connections stay open, nothing answers. */
  freeze(): void;
  /** SIGCONT */
  thaw(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Starts it again, with what it has kept. */
  start(): Promise<void>;
  /** Makes an empty database. @returns its URL */
  createDatabase(name: string): Promise<string>;
  /** How many connections there are to the database of that URL, beside the one that asks. */
  connections(url: string): Promise<number>;
  /** Locks a table of that database against all others, as an operator's forgotten transaction. @returns what ends it */
  lock(url: string, table: string): Promise<() => Promise<void>>;
  /** Ends them, on the side of the server. */
  cut(url: string): Promise<void>;
  /** Keeps a copy of all that it holds. @returns what puts it back. The server is restarted by each. */
  backUp(): Promise<() => Promise<void>>;
}
