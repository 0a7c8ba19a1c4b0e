// Arrays that own their memory: aligned for vector instructions and not initialised unless asked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace shortlist {

using Index = std::ptrdiff_t;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// An array of fixed size.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) : size_(size), values_(allocate(size)) {}
  Buffer(Index size, T value) : Buffer(size) { fill(value); }
  Buffer(const Buffer& other) : Buffer(other.size_) { std::copy(other.begin(), other.end(), begin()); }
  Buffer(Buffer&& other) noexcept : size_(other.size_), values_(std::move(other.values_)) { other.size_ = 0; }
  Buffer& operator=(Buffer other) noexcept {
    std::swap(size_, other.size_);
    std::swap(values_, other.values_);
    return *this;
  }

  Index size() const { return size_; }
  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](Index i) { return values_.get()[i]; }
  const T& operator[](Index i) const { return values_.get()[i]; }

  void fill(T value) { std::fill(begin(), end(), value); }
  /// Take the values of an array of the same size.
  void copy(const Buffer& other) { std::copy(other.begin(), other.end(), begin()); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(T* values) const { ::operator delete(values, alignment); }
  };

  static T* allocate(Index size) {
    if (size < 0 || size > std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T))) throw std::bad_alloc();
    return static_cast<T*>(::operator new(static_cast<std::size_t>(size) * sizeof(T), alignment));
  }

  Index size_ = 0;
  std::unique_ptr<T, Free> values_;
};

/// Rows of doubles.
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index n_rows, Index n_columns) : n_columns_(n_columns), values_(product(n_rows, n_columns)) {}

  Index n_columns() const { return n_columns_; }
  double* operator[](Index row) { return values_.data() + row * n_columns_; }
  const double* operator[](Index row) const { return values_.data() + row * n_columns_; }

 private:
  static Index product(Index n_rows, Index n_columns) {
    if (n_columns > 0 && n_rows > std::numeric_limits<Index>::max() / n_columns) throw std::bad_alloc();
    return n_rows * n_columns;
  }

  Index n_columns_ = 0;
  Buffer<double> values_;
};

}  // namespace shortlist
