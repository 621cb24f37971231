// Labels typed as pairs such as team=shop. A word without `=` becomes a label without a value, which the server judges.

export function readLabels(text: string): { [name: string]: string } {
  const pairs = text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      const at = word.indexOf('=')
      return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
    })
  return Object.fromEntries(pairs)
}
