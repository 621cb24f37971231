// The shape of a list answer. DECISIONS 2.

import { list, nullable, object, type Shape, string } from '@holdfast/contract'

export const pageShape = <T>(item: Shape<T>) => object({ items: list(item), nextCursor: nullable(string()) })
