// A file between two markers in a log: written by a CI run that cannot leave files behind, read by keep.ts.

const BEGIN = '--- file '
const END = '--- end of file '

/** Only what a CI run keeps may be written from a log. */
const KEPT = /^\.ci\/(?:ledgers\/\d{4}\.json|[\w-]+\.(?:tsv|json))$/

export const printMarked = (path: string, text: string): string => `${BEGIN}${path}\n${text}${END}${path}`

/** The files of a log, by path. The log may be quoted with `> ` in front of each line. */
export function readMarked(log: string): Map<string, string> {
  const files = new Map<string, string>()
  let open: { readonly path: string; readonly lines: string[] } | undefined
  for (const quoted of log.split('\n')) {
    const line = quoted.replace(/^> ?/, '')
    if (open !== undefined && line === `${END}${open.path}`) {
      files.set(open.path, `${open.lines.join('\n')}\n`)
      open = undefined
    } else if (open !== undefined) open.lines.push(line)
    else if (line.startsWith(BEGIN) && KEPT.test(line.slice(BEGIN.length)))
      open = { path: line.slice(BEGIN.length), lines: [] }
  }
  return files
}
