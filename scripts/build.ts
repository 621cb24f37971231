// Builds what operators install into dist/: packages, single binaries, the server's image, bills of materials, notices, hashes
// and their signature.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit, stderr, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { ARTEFACT_NAMES, gatherShipped, requireNotices } from './package/artefacts.ts'
import { writeBinaries } from './package/binary/write-binaries.ts'
import { buildLibraries } from './package/build-libraries.ts'
import { buildBundles, bundleAgentBinary, PROGRAMS } from './package/bundles/bundles.ts'
import { checksumLines, readSigningKey, signText } from './package/checksums.ts'
import { gatherBuilt } from './package/gather-built.ts'
import { unpackBase } from './package/image/unpack-base.ts'
import { writeImage } from './package/image/write-image.ts'
import { planPackages } from './package/package-plan.ts'
import { changedFiles, releaseFacts } from './package/release-facts.ts'
import { sbomOf } from './package/shipped/sbom.ts'
import { FORMATS, type Format, writePackages } from './package/write-packages.ts'

const ROOT = join(import.meta.dirname, '..')
const started = performance.now()

const { into, key, formats, onlyBundles } = readArguments()
const report = (text: string): void =>
  void stdout.write(`build: ${((performance.now() - started) / 1000).toFixed(1)} s, ${text}\n`)

// A key that cannot sign is found before the work.
const signingKey = key === undefined ? undefined : readSigningKey(key)
const changed = changedFiles()
if (changed.length > 0)
  stderr.write(`build: ${changed.length} files differ from the commit: this build cannot be repeated\n`)
const bundleFolder = join(into, 'bundles')
const packages = join(into, 'packages')
const work = join(into, 'work')
rmSync(onlyBundles ? bundleFolder : into, { recursive: true, force: true })
mkdirSync(into, { recursive: true })

const release = releaseFacts()
const bundles = await buildBundles(bundleFolder)
report('bundles written')
if (onlyBundles) exit()
const agentBinary = await bundleAgentBinary(join(work, 'agent-bundle'))
mkdirSync(packages, { recursive: true })
const base = unpackBase(join(work, 'base'))
const shipped = gatherShipped({ bundles, agentBinary, base: base.shipped })
const notices = requireNotices(shipped)
report('licences checked')
const built = gatherBuilt(bundles, notices)
await writePackages(planPackages(built), release, formats, { into: packages, work })
report('packages written')
const [cli] = PROGRAMS['holdfast-cli']
await writeBinaries(
  [
    { command: 'holdfast-agent', bundle: agentBinary.file },
    { command: 'holdfast', bundle: join(bundles['holdfast-cli'].folder, cli) },
  ],
  release,
  { into: packages, work },
)
report('single binaries written')
const digest = writeImage(
  {
    base: base.entries,
    node: built.node,
    bundle: built.bundleFiles['holdfast-server'],
    notice: notices['holdfast-server-image'],
  },
  release,
  packages,
)
report(`image written, ${digest}`)
await buildLibraries(join(into, 'npm'), packages)
report('npm packages written')
for (const name of ARTEFACT_NAMES) {
  writeFileSync(join(packages, `${name}.cdx.json`), sbomOf({ name, ...release }, shipped[name]))
  writeFileSync(join(packages, `${name}.NOTICE`), notices[name])
}
signSums()

function readArguments() {
  const { values } = parseArgs({
    args: argv.slice(2),
    options: {
      into: { type: 'string' },
      key: { type: 'string' },
      formats: { type: 'string' },
      bundles: { type: 'boolean', default: false },
    },
  })
  const named = values.formats?.split(',') ?? FORMATS
  const known = named.filter((word): word is Format => FORMATS.some((format) => format === word))
  if (known.length !== named.length) throw new Error(`--formats is a list of: ${FORMATS.join(', ')}`)
  return {
    into: values.into ?? join(ROOT, 'dist'),
    key: values.key,
    formats: known,
    onlyBundles: values.bundles,
  }
}

function signSums(): void {
  const sums = checksumLines(packages, readdirSync(packages))
  writeFileSync(join(packages, 'SHA256SUMS'), sums)
  if (signingKey !== undefined) writeFileSync(join(packages, 'SHA256SUMS.sig'), signText(sums, signingKey))
  report(`SHA256SUMS written${signingKey === undefined ? '; no --key, so nothing is signed' : ' and signed'}`)
}
