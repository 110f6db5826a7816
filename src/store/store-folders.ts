// Where things lie below the store's root folder.

export interface StoreFolders {
  readonly consumeQueue: string;
  readonly index: string;
  readonly config: string;
}

export function storeFolders(root: string): StoreFolders {
  return { consumeQueue: `${root}/consumequeue`, index: `${root}/index`, config: `${root}/config` };
}
