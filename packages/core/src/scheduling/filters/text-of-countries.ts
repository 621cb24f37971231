// A list of countries as the text that a filter's answer is kept for. The lists are those of stored specs and of the
// configuration: read again and again, and never changed in place.

const texts = new WeakMap<readonly string[], string>()

export function textOfCountries(countries: readonly string[]): string {
  if (countries.length === 0) return ''
  const known = texts.get(countries)
  if (known !== undefined) return known
  const text = JSON.stringify(countries)
  texts.set(countries, text)
  return text
}
