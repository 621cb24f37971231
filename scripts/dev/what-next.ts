// What dev:up prints at the end: lines that work as they are printed, from the root of the repository.

import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type DevFolder, REPOSITORY } from './dev-folder.ts'

interface Shown {
  readonly baseUrl: string
  readonly sampleImage: string
}

export function whatNext(folder: DevFolder): string {
  const { baseUrl, sampleImage } = readShown(folder)
  const inside = relative(REPOSITORY, folder.path)
  const file = inside.startsWith('..') ? folder.environment : `./${inside}/env.json`
  const bearer = '-H "Authorization: Bearer $TOKEN"'
  const deployment = JSON.stringify({ kind: 'Deployment', name: 'web', image: sampleImage, replicas: 2 })
  const faulty = JSON.stringify({ kind: 'Deployment', name: 'Web', image: 'web:latest', replicas: -1 })
  return `
The API is at ${baseUrl}, its pages at ${baseUrl}/docs. Addresses and tokens are in ${file}.
Try:

  TOKEN=$(node -p 'require("${file}").tenants[0].token')
  curl -sw '\\n' ${bearer} ${baseUrl}/api/v1/deployments --json '${deployment}'
  curl -sw '\\n' ${bearer} ${baseUrl}/api/v1/deployments --json '${faulty}'
  curl -sw '\\n' ${bearer} ${baseUrl}/api/v1/deployments/web
  curl -sw '\\n' ${bearer} ${baseUrl}/api/v1/events
  curl -s ${baseUrl}/metrics

The server logs to ${file.replace(/env\.json$/, 'server.log')}. End it all, data included: npm run dev:down
`
}

export function readShown({ environment }: DevFolder): Shown {
  const { baseUrl, sampleImage } = JSON.parse(readFileSync(environment, 'utf8'))
  return { baseUrl: String(baseUrl), sampleImage: String(sampleImage) }
}
