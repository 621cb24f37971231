// The records whose name contains a text, ignoring case.

export function matchingNames<T extends { readonly name: string }>(
  items: readonly T[],
  q: string | undefined,
): readonly T[] {
  if (q === undefined) return items
  const wanted = q.toLowerCase()
  return items.filter(({ name }) => name.toLowerCase().includes(wanted))
}
