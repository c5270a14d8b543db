// Decides which calls of the tools that debug are frozen.

export const DEBUGGING = {
  debug: {
    usual: [],
    empty: [{}],
    'over-long': [],
    bad: [
      { error: 7 },
      { eval: 'x' },
      { error: 1, eval: 'x', retry: true },
      { error: 1, fix: '1', end: true },
      { error: 1, values: ['1'] },
      { hold: true },
      { watch: 'all', type: 'nonsense' },
      { error: 0 },
    ],
  },
  inspect: {
    usual: [{ value: 'shop:*currency*' }, { value: 'shop:price', path: ['parameters'] }],
    empty: [{ value: 'shop::cents' }],
    'over-long': [{ value: 'shop::*long*', limit: 2 }],
    bad: [
      {},
      { value: '' },
      { value: '@999' },
      { value: '(list 1)' },
      { value: 'nonexistent' },
      { value: 'shop:price', path: ['nope'] },
      { value: 7 },
    ],
  },
};
