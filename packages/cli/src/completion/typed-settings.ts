// Which platform is meant by a line that is still being typed: its own flags count as they will once it is run.

import type { Settings } from '../command.ts'

export function typedSettings(typed: readonly string[]): Settings {
  const [context, url, token] = [
    givenFor(typed, '--context'),
    givenFor(typed, '--url'),
    givenFor(typed, '--token'),
  ]
  const [tenant, caFile] = [givenFor(typed, '--tenant'), givenFor(typed, '--ca-file')]
  return {
    ...(context === undefined ? {} : { context }),
    ...(url === undefined ? {} : { url }),
    ...(token === undefined ? {} : { token }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(caFile === undefined ? {} : { caFile }),
  }
}

/** Of `--flag value` or `--flag=value`; the word that is being typed is no value yet. */
function givenFor(typed: readonly string[], flag: string): string | undefined {
  const done = typed.slice(0, -1)
  const at = done.lastIndexOf(flag)
  if (at >= 0) return done[at + 1]
  return done.findLast((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1)
}
