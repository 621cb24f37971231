// Builds Debian packages of the next version, whose server writes a new form of records, and prints that version.
//
//   node scripts/build-next.ts INTO             the server, for scripts/package/try-downgrade
//   node scripts/build-next.ts INTO PACKAGE...  these packages of holdfast-server and holdfast-agent

import { join } from 'node:path'
import { argv, stdout } from 'node:process'
import { makeTempFolder } from '@holdfast/testkit'
import { editedBuild } from '@holdfast/testkit/builds/build'
import { NEXT_RELEASE, NEXT_VERSION } from '@holdfast/testkit/builds/newer-versions'
import { bundleProcesses, type Program } from './package/bundles/bundles.ts'
import { gatherBuilt } from './package/gather-built.ts'
import { planPackages } from './package/package-plan.ts'
import { releaseFacts } from './package/release-facts.ts'
import { writePackages } from './package/write-packages.ts'

const [, , into = 'dist/next', ...named] = argv
const wanted = named.length === 0 ? ['holdfast-server'] : named
const sources = editedBuild('the next version', NEXT_RELEASE)
const work = makeTempFolder('next')
await bundleProcesses(sources.folder, work.path)
sources.remove()

const bundleOf = (program: Program) => ({ folder: join(work.path, program), metafiles: [] })
const built = gatherBuilt(
  {
    'holdfast-server': bundleOf('holdfast-server'),
    'holdfast-agent': bundleOf('holdfast-agent'),
    'holdfast-cli': bundleOf('holdfast-agent'),
  },
  { 'holdfast-server': '', 'holdfast-agent': '', 'holdfast-cli': '', 'holdfast-engines': '' },
)
const plans = planPackages(built).filter(({ name }) => wanted.includes(name))
await writePackages(plans, { ...releaseFacts(), version: NEXT_VERSION }, ['deb'], { into, work: work.path })
work.remove()
stdout.write(`${NEXT_VERSION}\n`)
