// A list of countries as the text that a filter's answer is kept for. The lists are those of stored specs and of the
// configuration: read again and again, and never changed in place.

import { rememberedFor } from '../remembered.ts'

export const textOfCountries = (countries: readonly string[]): string =>
  countries.length === 0 ? '' : textOf(countries)

const textOf = rememberedFor((countries: readonly string[]): string => JSON.stringify(countries))
