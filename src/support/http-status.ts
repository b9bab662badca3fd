/** Asks an HTTP server for nothing but the status of its answer. */

/** @returns undefined when it has not answered in time. */
export async function httpStatus(url: string, withinMs: number): Promise<number | undefined> {
  try {
    const { status, body } = await fetch(url, { signal: AbortSignal.timeout(withinMs), redirect: 'manual' });
    await body?.cancel();
    return status;
  } catch {
    return undefined;
  }
}
