// Bundles the server and the agent of a folder of sources: node scripts/bundle-processes.ts SOURCES INTO. Tests run two versions
// side by side this way (packages/testkit/src/builds/build.ts).

import { argv } from 'node:process'
import { bundleProcesses } from './package/bundles/bundles.ts'

const [, , sources = '', into = ''] = argv
await bundleProcesses(sources, into)
