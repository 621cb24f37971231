// The text that dev:up prints at its end. Each command in the text works as printed, from the root of the repository.

import { relative } from 'node:path'
import { contextOf } from './cli-contexts.ts'
import { type DevFolder, REPOSITORY } from './dev-folder.ts'
import { readEnvironment } from './environment.ts'

export function nextSteps(folder: DevFolder): string {
  const { baseUrl, dashboard, edge, cli } = readEnvironment(folder)
  const inside = relative(REPOSITORY, folder.path)
  const place = inside.startsWith('..') ? folder.path : inside
  const before = cli.before === null ? '' : `; before dev:up it was ${cli.before}`
  const apply = `npx holdfast apply -f ${place}/hello.yaml`
  const tries = [
    ...(edge === undefined ? [apply] : [`${apply} --wait`, `curl -H "Host: hello.example.com" ${edge}`]),
    'npx holdfast apply -f examples/wrong.yaml',
    'npx holdfast status',
    `npx holdfast --context ${contextOf('globex')} get deployments`,
    ...(edge === undefined ? [] : ['npm run dev:node -- off acme-2']),
  ]
  return `
The API is at ${baseUrl}, its documentation at ${baseUrl}/docs. Addresses and tokens are in ${place}/env.json.
The dashboard is at ${dashboard}; sign in with the token of a tenant.
The command line uses the tenant acme: ${contextOf('acme')} is the current context of ${cli.file}${before}.
Try:

${tries.map((line) => `  ${line}`).join('\n')}

The server logs to ${place}/server.log. To stop everything and delete the data: npm run dev:down
`
}
