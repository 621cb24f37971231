// `holdfast validate`: checks manifests offline, with the same rules as the server.

import type { OfflineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import { print } from '../terminal/terminal.ts'

export const validate: OfflineCommand = {
  name: 'validate',
  summary: 'check manifests offline by the rules of the platform',
  details:
    'Only a platform can check whether the image exists, and its own registries, regions, nodes, volumes and quotas. Use `apply --dry-run` for those.',
  options: [FILENAME_OPTION],
  examples: [
    ['holdfast validate -f web.yaml', 'Shows every error at its place in the file.'],
    ['holdfast validate -f manifests/', 'Checks all manifests of a folder.'],
  ],
  online: false,
  async run(invocation) {
    const [{ loadManifests, subjectOf }, { checkManifest }, { printRejections }] = await Promise.all([
      import('../manifest/load-manifests.ts'),
      import('@holdfast/manifest'),
      import('../manifest/show-faults.ts'),
    ])
    const loaded = await loadManifests(invocation)
    if (!loaded.ok) return loaded.exitCode
    let allValid = true
    for (const manifest of loaded.manifests) {
      const rejections = checkManifest(manifest)
      printRejections(invocation.terminal, manifest, rejections)
      if (rejections.length === 0) print(invocation.terminal, `${subjectOf(manifest.value)} valid`)
      else allValid = false
    }
    return allValid ? EXIT.ok : EXIT.rejected
  },
}
