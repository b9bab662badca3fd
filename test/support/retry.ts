/** Retries until `work` succeeds: connections are lost when a server restarts, which is noticed at the next use. */
export async function retry<T>(work: () => Promise<T>, tries = 100): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (tries === 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return retry(work, tries - 1);
  }
}
