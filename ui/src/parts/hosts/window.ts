// Which rows of a long list are in sight. Pure.

export interface Sight {
  readonly first: number;
  readonly last: number;
}

/** Rows of equal height; a few more than can be seen are kept ready on either side. */
export function inSight(scrolled: number, height: number, row: number, count: number, spare = 8): Sight {
  if (count === 0) return { first: 0, last: -1 };
  const first = Math.max(0, Math.floor(scrolled / row) - spare);
  const last = Math.min(count - 1, Math.ceil((scrolled + height) / row) + spare);
  return { first: Math.min(first, last), last };
}
