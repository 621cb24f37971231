// The lines of a stream of JSON values, as pulls and events send them.

export async function* readJsonLines(stream: AsyncIterable<string | Buffer>): AsyncGenerator<unknown> {
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line)
  }
  if (rest.trim() !== '') yield JSON.parse(rest)
}
