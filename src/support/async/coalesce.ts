export interface Coalesced {
  /** Runs the work now, or once more after the run under way, however often it is requested meanwhile. */
  readonly request: () => void;
  /** Resolves when the run under way has ended. */
  readonly ended: () => Promise<void>;
}

/** @param work never rejects */
export function coalesce(work: () => Promise<void>): Coalesced {
  let underWay: Promise<void> | undefined;
  let again = false;
  const request = (): void => {
    again = underWay !== undefined;
    underWay ??= work().finally(() => {
      underWay = undefined;
      if (again) request();
    });
  };
  return { request, ended: async () => underWay };
}
