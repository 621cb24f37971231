// Plants a canary (a fake secret) in a body at every possible place: as each value, inside each value, as each key, and
// as an unknown field.

type Place = readonly (string | number)[]

export interface Planting {
  /** Describes where and how the canary was planted, for a test failure. */
  readonly what: string
  readonly body: unknown
}

/** Generates one body for each place at which the text can be planted. */
export function* plantings(body: unknown, text: string): Generator<Planting> {
  for (const place of placesOf(body)) {
    const at = place.join('.') || '(body)'
    if (place.length > 0) {
      yield { what: `as ${at}`, body: replaceAt(body, place, () => text) }
      yield { what: `in a list at ${at}`, body: replaceAt(body, place, () => [text]) }
      yield { what: `in an object at ${at}`, body: replaceAt(body, place, () => ({ value: text })) }
      yield { what: `as a key of ${at}`, body: replaceAt(body, place, () => ({ [text]: 'x' })) }
    }
    const holder = valueAt(body, place)
    if (isObject(holder)) {
      yield {
        what: `as a further key in ${at}`,
        body: replaceAt(body, place, () => ({ ...holder, [text]: text })),
      }
      yield {
        what: `as an unknown field of ${at}`,
        body: replaceAt(body, place, () => ({ ...holder, zz: text })),
      }
    }
  }
}

/** Paths of all places in the body, beginning with the body itself. */
function placesOf(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place]
  const inside = Array.isArray(value)
    ? value.flatMap((element, index) => placesOf(element, [...place, index]))
    : Object.entries(value).flatMap(([key, member]) => placesOf(member, [...place, key]))
  return [place, ...inside]
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(value: unknown, place: Place): unknown {
  const [step, ...rest] = place
  if (step === undefined) return value
  return valueAt(Object(value)[step], rest)
}

function replaceAt(value: unknown, place: Place, make: () => unknown): unknown {
  const [step, ...rest] = place
  if (step === undefined) return make()
  if (Array.isArray(value))
    return value.map((each, index) => (index === step ? replaceAt(each, rest, make) : each))
  return { ...Object(value), [step]: replaceAt(Object(value)[step], rest, make) }
}
