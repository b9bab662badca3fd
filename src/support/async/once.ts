export interface Once {
  /** Callers while the work is under way, and after it, share its outcome. A failure is forgotten: the next call retries. */
  (): Promise<void>;
  /** The next call does the work again. */
  forget(): void;
}

/** Initialization: work that is done once, by the first caller. */
export function once(work: () => Promise<void>): Once {
  let done: Promise<void> | undefined;
  const run = (): Promise<void> => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
  return Object.assign(run, {
    forget: () => {
      done = undefined;
    },
  });
}
