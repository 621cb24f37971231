// `holdfast import compose`: translates a Compose file to manifests, and reports every member that was changed or not
// carried over.

import type { Imported } from '@holdfast/manifest/compose'
import type { Form } from '../../args/forms.ts'
import type { Invocation, OfflineCommand } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printError } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'

const DOMAIN: Form = {
  expected: 'a lowercase domain such as example.com',
  test: (text) =>
    text.length <= 180 && /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\.[a-z][a-z0-9-]{0,61}$/.test(text),
}
const NODE_ID: Form = {
  expected: 'the id of a node, which holdfast node list -o json shows',
  test: (text) => /^node_[0-9A-HJKMNP-TV-Z]{26}$/.test(text),
}
const DEFAULT_SIZE = '10Gi'

export const importCompose: OfflineCommand = {
  name: 'import compose',
  summary: 'translate a Compose file to manifests',
  details: [
    'Manifests go to stdout or to the file of --to, the report to stderr. The report lists every member of the Compose file',
    'that was changed, refused or ignored, with its line, the reason and the next step. Values that look like credentials',
    'are never written: they become references to secrets, and the report has the commands that write the secrets.',
    '',
    `Variables such as \${TAG:-1.0} are replaced from the environment, and from files only with --env-file. Nothing is`,
    'sent to a platform.',
  ].join('\n'),
  args: [{ name: 'file', summary: 'Compose file, or - for stdin' }],
  options: [
    { flags: '--to <file>', summary: 'write the manifests to a file instead of stdout' },
    { flags: '--force', summary: 'overwrite the file of --to' },
    { flags: '--env-file <file>', summary: 'file of variables such as .env; repeatable', many: true },
    {
      flags: '--domain <domain>',
      summary: 'turn published ports into routes of hosts below this domain',
      form: DOMAIN,
    },
    { flags: '--volume-size <size>', summary: `size of each volume (default: ${DEFAULT_SIZE})` },
    {
      flags: '--node <id>',
      summary: 'node that runs everything, as one machine does in Compose',
      form: NODE_ID,
    },
    { flags: '--strict', summary: 'write nothing and exit with 3 if anything is refused' },
    {
      flags: '-o, --output <form>',
      summary: 'print documents and report as JSON to stdout',
      choices: ['json'],
    },
  ],
  examples: [
    [
      'holdfast import compose compose.yaml > manifests.yaml',
      'Writes the manifests to stdout, the report to stderr.',
    ],
    [
      'holdfast import compose compose.yaml --env-file .env --domain example.com --to manifests.yaml',
      'Replaces variables from .env, and routes SERVICE.example.com to published ports.',
    ],
    ['holdfast import compose compose.yaml -o json', 'Prints documents and report for a program.'],
  ],
  online: false,
  async run(invocation) {
    const { terminal, text } = invocation
    const { typedSize } = await import('../../args/size.ts')
    const volumeSize = text('volume-size') ?? DEFAULT_SIZE
    const size = await typedSize(terminal, volumeSize)
    if ('exitCode' in size) return size.exitCode
    const { readProject } = await import('./read-project.ts')
    const project = await readProject(invocation)
    if (!project.ok) {
      printError(terminal, project.why)
      return project.exitCode
    }
    const { translateCompose } = await import('@holdfast/manifest/compose')
    const imported = translateCompose(project.source, {
      ...project.around,
      volumeSize,
      domain: text('domain'),
      nodeId: text('node'),
    })
    return finish(invocation, project.name, imported)
  },
}

async function finish(invocation: Invocation, file: string, imported: Imported): Promise<ExitCode> {
  const { terminal, text, flag } = invocation
  const isRefused = flag('strict') && imported.findings.some(({ outcome }) => outcome === 'refused')
  const documents = isRefused ? [] : imported.documents
  const [{ writeDocuments }, { printReport }] = await Promise.all([
    import('@holdfast/manifest/compose'),
    import('./print-report.ts'),
  ])
  const to = text('to')
  if (to !== undefined && documents.length > 0) {
    const failed = await writeFileOnce(to, writeDocuments(documents), flag('force'))
    if (failed !== undefined) {
      printError(terminal, failed)
      return EXIT.error
    }
  }
  if (text('output') === 'json') print(terminal, JSON.stringify({ ...imported, documents }, null, 2))
  else {
    if (to === undefined) terminal.out(writeDocuments(documents))
    printReport(terminal, file, { ...imported, documents })
  }
  if (documents.length > 0) return EXIT.ok
  printError(
    terminal,
    isRefused
      ? 'nothing was written, because --strict allows no refused member'
      : `${file} has no service that can be imported`,
  )
  return EXIT.rejected
}

/** Writes a file that does not exist, or with `force` any file. Returns the reason why it could not. */
async function writeFileOnce(path: string, text: string, force: boolean): Promise<string | undefined> {
  const { writeFile } = await import('node:fs/promises')
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' })
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return code === 'EEXIST'
      ? `${path} exists already; --force overwrites it`
      : `${path} cannot be written: ${code}`
  }
}
