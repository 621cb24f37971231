// A published package names compiled modules and their types, and may be published.

import { expect, test } from 'vitest'
import { publishedManifest, type SourceManifest } from '../../../scripts/package/published-manifest.ts'

const SOURCE: SourceManifest & { readonly private: boolean } = {
  name: '@holdfast/client',
  version: '1.2.3',
  private: true,
  description: 'Client',
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=24' },
  exports: { '.': './src/index.ts', './examples': './src/catalogue/examples/index.ts', './*': './src/*.ts' },
  dependencies: { '@holdfast/contract': '1.2.3' },
}

test('names the compiled modules with their types', () =>
  expect(publishedManifest(SOURCE)).toEqual({
    name: '@holdfast/client',
    version: '1.2.3',
    description: 'Client',
    license: 'Apache-2.0',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=24' },
    files: ['dist'],
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './examples': {
        types: './dist/catalogue/examples/index.d.ts',
        default: './dist/catalogue/examples/index.js',
      },
      './*': { types: './dist/*.d.ts', default: './dist/*.js' },
    },
    dependencies: { '@holdfast/contract': '1.2.3' },
  }))

test('refuses an export that is not compiled', () =>
  expect(() => publishedManifest({ ...SOURCE, exports: { './style': './src/style.css' } })).toThrow(
    'no source',
  ))
