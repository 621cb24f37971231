// `holdfast init`: writes a starter manifest, and a JSON Schema with which editors validate manifests.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { printError } from '../print/failure.ts'
import { print } from '../terminal/terminal.ts'

const SCHEMA = '.holdfast/deployment.schema.json'

export const init: OfflineCommand = {
  name: 'init',
  summary: 'write a commented starter manifest',
  details: `Writes <name>.yaml and ${SCHEMA} into the current folder. Editors with YAML support use the schema to complete and check the manifest.`,
  args: [{ name: 'name', summary: 'name of the deployment' }],
  options: [
    { flags: '--image <reference>', summary: 'image to run (default: a placeholder)' },
    { flags: '--force', summary: 'overwrite an existing file' },
  ],
  examples: [['holdfast init web --image registry.example.com/web:1.4.2', 'Writes web.yaml.']],
  online: false,
  async run({ terminal, args: [name = ''], text, flag }) {
    const [{ mkdir, writeFile }, { dirname }, { manifestSchema }, { manifestTemplate }] = await Promise.all([
      import('node:fs/promises'),
      import('node:path'),
      import('../manifest/schema.ts'),
      import('@holdfast/manifest'),
    ])
    if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
      printError(
        terminal,
        `${name} is not a valid deployment name: use lowercase letters, digits and hyphens, starting with a letter`,
      )
      return EXIT.usage
    }
    const path = `${name}.yaml`
    const image = text('image') ?? `registry.example.com/${name}:1.0.0`
    const written = await writeFile(path, manifestTemplate(name, image, SCHEMA), {
      flag: flag('force') ? 'w' : 'wx',
    }).catch((error: NodeJS.ErrnoException) => error)
    if (written instanceof Error) {
      const why =
        written.code === 'EEXIST'
          ? 'exists already; --force overwrites it'
          : `cannot be written: ${written.code}`
      printError(terminal, `${path} ${why}`)
      return EXIT.error
    }
    await mkdir(dirname(SCHEMA), { recursive: true })
    await writeFile(SCHEMA, `${JSON.stringify(manifestSchema(), null, 2)}\n`)
    print(terminal, path)
    return EXIT.ok
  },
}
