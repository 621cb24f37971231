// `secrets[0].values["a b"]` as its steps: how a rejection's field is found again in the file it came from.

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[(\d{1,15})\]|([^.[\]]+)/g

export type Step = string | number

export function stepsOf(field: string): Step[] {
  return Array.from(field.matchAll(STEP), ([whole, quoted, index, bare]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? (bare ?? whole) : unquote(quoted)
  })
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`))
  } catch {
    return quoted
  }
}
