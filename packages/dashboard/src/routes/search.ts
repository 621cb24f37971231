// Reads members of the search of an address.

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Keeps the members of a search that are given; others are dropped from the address. */
export function given<T extends { readonly [name: string]: string | undefined }>(search: T): Partial<T> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Partial<T>
}
