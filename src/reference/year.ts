/** Years are those of UTC. */

export const yearOf = (instant: number): number => new Date(instant).getUTCFullYear();

/** The first instant of a year. */
export const startOf = (year: number): number => Date.UTC(year, 0);
