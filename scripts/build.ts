// Builds what operators install into dist/: bundles, packages, bills of materials, notices, hashes and their signature.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit, stderr, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { buildLibraries } from './package/build-libraries.ts'
import { buildBundles, type Program } from './package/bundles.ts'
import { licenceFaults } from './package/check-licences.ts'
import { checksumLines, readSigningKey, signText } from './package/checksums.ts'
import { engineBinaries, gatherBuilt } from './package/gather-built.ts'
import { gatherGo } from './package/gather-go.ts'
import { gatherNpm } from './package/gather-npm.ts'
import { noticeOf } from './package/notice.ts'
import { PACKAGE_NAMES, type PackageName, planPackages } from './package/package-plan.ts'
import { changedFiles, releaseFacts } from './package/release-facts.ts'
import { sbomOf } from './package/sbom.ts'
import { type Shipped, uniqueShipped } from './package/shipped.ts'
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
rmSync(onlyBundles ? bundleFolder : into, { recursive: true, force: true })
mkdirSync(into, { recursive: true })

const release = releaseFacts()
const bundles = await buildBundles(bundleFolder)
report('bundles written')
if (onlyBundles) exit()
const shipped = gatherShipped()
const notices = checkLicences()
report('licences checked')
const plans = planPackages(gatherBuilt(bundles, notices))
const packages = join(into, 'packages')
await writePackages(plans, release, formats, { into: packages, work: join(into, 'work') })
report('packages written')
await buildLibraries(join(into, 'npm'), packages)
report('npm packages written')
for (const name of PACKAGE_NAMES) {
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

function gatherShipped(): { readonly [P in PackageName]: readonly Shipped[] } {
  const npm = (program: Program) => uniqueShipped(gatherNpm(bundles[program]))
  const binaries = (['etcd', 'vault', 'caddy'] as const).flatMap(engineBinaries).map(([, path]) => path)
  return {
    'holdfast-server': npm('holdfast-server'),
    'holdfast-agent': npm('holdfast-agent'),
    'holdfast-cli': npm('holdfast-cli'),
    'holdfast-engines': uniqueShipped(gatherGo(binaries)),
  }
}

/** The notice of each package. Ends the build if a component must not ship. */
function checkLicences(): { readonly [P in PackageName]: string } {
  const faults = PACKAGE_NAMES.flatMap((name) =>
    licenceFaults(shipped[name]).map((fault) => `${name}: ${fault}`),
  )
  if (faults.length > 0) throw new Error(`Licences:\n${faults.join('\n')}`)
  const own = readFileSync(join(ROOT, 'LICENSE'), 'utf8')
  const notice = (name: PackageName): string => noticeOf(name, own, shipped[name])
  return {
    'holdfast-server': notice('holdfast-server'),
    'holdfast-agent': notice('holdfast-agent'),
    'holdfast-cli': notice('holdfast-cli'),
    'holdfast-engines': notice('holdfast-engines'),
  }
}

function signSums(): void {
  const sums = checksumLines(packages, readdirSync(packages))
  writeFileSync(join(packages, 'SHA256SUMS'), sums)
  if (signingKey !== undefined) writeFileSync(join(packages, 'SHA256SUMS.sig'), signText(sums, signingKey))
  report(`SHA256SUMS written${signingKey === undefined ? '; no --key, so nothing is signed' : ' and signed'}`)
}
