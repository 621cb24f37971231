// Turns the plan of a package into the configuration of nfpm, which writes .deb and .rpm files from it.

import { join } from 'node:path'
import type { Content, PackagePlan } from './package-plan.ts'

export interface Release {
  readonly version: string
  /** The date of the commit: every file in a package has it, so that two builds of a commit are the same bytes. */
  readonly date: string
  readonly maintainer: string
  readonly homepage: string
  readonly arch: 'amd64'
}

/** Files that the plan describes by their text, to be written before nfpm runs. */
export interface TextFile {
  readonly path: string
  readonly text: string
}

/** The configuration as JSON, which is YAML, and the texts that it refers to in a folder. */
export function nfpmConfig(
  plan: PackagePlan,
  release: Release,
  folder: string,
): { readonly config: string; readonly texts: readonly TextFile[] } {
  const texts = [...contentTexts(plan, folder), ...scriptTexts(plan, folder)]
  const { name, description, recommends, conflicts, depends } = plan
  const { version, date, maintainer, homepage, arch } = release
  const config = {
    name,
    version,
    arch,
    platform: 'linux',
    section: 'admin',
    priority: 'optional',
    license: 'Apache-2.0',
    maintainer,
    homepage,
    description,
    mtime: date,
    // Each place has its own mode, whatever the umask of the clone was.
    umask: 0o022,
    recommends,
    conflicts,
    overrides: { deb: { depends: depends.deb }, rpm: { depends: depends.rpm } },
    scripts: Object.fromEntries(
      Object.keys(plan.scripts).map((script) => [script, scriptPath(plan, folder, script)]),
    ),
    contents: plan.contents.map((content, index) =>
      nfpmContent(content, textPath(plan, folder, index), date),
    ),
    deb: { compression: 'zstd' },
    // The name of the machine that builds must not be part of the package.
    rpm: { compression: 'zstd', buildhost: 'localhost' },
  }
  return { config: `${JSON.stringify(config, null, 1)}\n`, texts }
}

function nfpmContent(content: Content, textFile: string, mtime: string): object {
  const info = { owner: 'root', group: 'root', mtime }
  if (content.kind === 'link')
    return { src: content.target, dst: content.to, type: 'symlink', file_info: info }
  const { to, mode } = content
  const common = { dst: to, file_info: { ...info, mode } }
  if (content.kind === 'copy') return { src: content.from, ...common }
  return { src: textFile, ...common, ...(content.config ? { type: 'config|noreplace' } : {}) }
}

const textPath = ({ name }: PackagePlan, folder: string, index: number): string =>
  join(folder, `${name}-${index}`)
const scriptPath = ({ name }: PackagePlan, folder: string, script: string): string =>
  join(folder, `${name}-${script}`)

const contentTexts = (plan: PackagePlan, folder: string): TextFile[] =>
  plan.contents.flatMap((content, index) =>
    content.kind === 'text' ? [{ path: textPath(plan, folder, index), text: content.text }] : [],
  )

const scriptTexts = (plan: PackagePlan, folder: string): TextFile[] =>
  Object.entries(plan.scripts).map(([script, text]) => ({ path: scriptPath(plan, folder, script), text }))
