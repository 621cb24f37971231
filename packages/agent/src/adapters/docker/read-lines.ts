// Parses a stream of JSON values separated by line feeds, as the engine sends for pulls and events.

export async function* readJsonLines(stream: AsyncIterable<string | Buffer>): AsyncGenerator<unknown> {
  let unfinished = ''
  for await (const chunk of stream) {
    const lines = (unfinished + chunk.toString()).split('\n')
    unfinished = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line)
  }
  if (unfinished.trim() !== '') yield JSON.parse(unfinished)
}
