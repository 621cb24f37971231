// A command as a person types it, split into words as a shell does: spaces separate words, quotes keep them together, and a
// backslash outside of single quotes keeps the next character. Nothing is expanded.

const WORD = /(?:[^\s'"\\]|'[^']*'|"(?:[^"\\]|\\.)*"|\\.)+/gs
const PART = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^'"\\]+)/gs

export const splitWords = (text: string): string[] => (text.match(WORD) ?? []).map(unquote)

const unquote = (word: string): string =>
  word.replace(PART, (_whole, single?: string, double?: string, escaped?: string, plain?: string) =>
    double === undefined ? (single ?? escaped ?? plain ?? '') : double.replace(/\\(["\\$`])/g, '$1'),
  )
