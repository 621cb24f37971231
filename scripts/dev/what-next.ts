// What dev:up prints at the end: lines that work as they are printed, from the root of the repository.

import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type CliContexts, contextOf } from './cli-contexts.ts'
import { type DevFolder, REPOSITORY } from './dev-folder.ts'

interface Shown {
  readonly baseUrl: string
  /** Where the first node serves what is routed; none without nodes. */
  readonly edge: string | undefined
  readonly cli: CliContexts
}

export function whatNext(folder: DevFolder): string {
  const { baseUrl, edge, cli } = readShown(folder)
  const inside = relative(REPOSITORY, folder.path)
  const place = inside.startsWith('..') ? folder.path : inside
  const before = cli.before === null ? '' : `; before, it was ${cli.before}`
  const apply = `npx holdfast apply -f ${place}/hello.yaml`
  const tries = [
    ...(edge === undefined ? [apply] : [`${apply} --wait`, `curl -H "Host: hello.example.com" ${edge}`]),
    'npx holdfast apply -f examples/wrong.yaml',
    'npx holdfast status',
    `npx holdfast --context ${contextOf('globex')} get deployments`,
    ...(edge === undefined ? [] : ['npm run dev:node -- off acme-2']),
  ]
  return `
The API is at ${baseUrl}, its pages at ${baseUrl}/docs. Addresses and tokens are in ${place}/env.json.
The command line speaks for acme: ${contextOf('acme')} is the current context of ${cli.file}${before}.
Try:

${tries.map((line) => `  ${line}`).join('\n')}

The server logs to ${place}/server.log. End it all, data included: npm run dev:down
`
}

export function readShown({ environment }: DevFolder): Shown {
  const { baseUrl, nodes, cli } = JSON.parse(readFileSync(environment, 'utf8'))
  return { baseUrl: String(baseUrl), edge: nodes?.[0]?.edge, cli }
}
